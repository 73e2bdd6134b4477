"""SASS opcodes by kind, Turing to Blackwell.

Modelled on the groups of NVIDIA's CUDA Binary Utilities, "Instruction Set Reference" (docs.nvidia.com/cuda/
cuda-binary-utilities), but not compared with it entry by entry. Loads and stores are split by the memory that an opcode
names; "generic": the address alone decides. Another opcode that starts with U is "uniform"; the rest is "other".
"""

GROUPS = {
    "global": "LDG LDGDEPBAR LDGSTS LDGMC STG ATOMG REDG",
    "shared": "LDS LDSM STS STSM STAS ATOMS",
    "local": "LDL STL",
    "constant": "LDC ULDC LDCU",
    "generic": "LD ST ATOM RED",
    "tma": "UBLKCP UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMALDG UTMAPF UTMAREDG UTMASTG",
    "fp16": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2",
    "fp32": "FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FMNMX FMNMX3 FMUL FMUL2 FMUL32I FSEL FSET FSETP FSWZADD MUFU",
    "fp64": "DADD DFMA DMUL DSETP",
    "tensor": "BMMA DMMA HMMA IMMA OMMA QMMA BGMMA HGMMA IGMMA QGMMA UTCHMMA UTCIMMA UTCOMMA UTCQMMA",
    "integer": "BMSK BREV FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA LOP "
    "LOP3 LOP32I POPC SHF SHL SHR VABSDIFF VABSDIFF4 VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3",
    "conversion": "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP",
    "move": "MOV MOV32I MOVM PRMT SEL SGXT SHFL",
    "predicate": "P2R PLOP3 PSETP R2P",
    "uniform": "R2UR REDUX S2UR VOTEU",
    "texture": "TEX TLD TLD4 TMML TXD TXQ SUATOM SULD SURED SUST",
    "control": "ACQBULK BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL ELECT ENDCOLLECTIVE EXIT JMP JMX JMXU KILL "
    "NANOSLEEP PREEXIT RET RPCMOV RTT WARPSYNC YIELD",
}
KIND = {opcode: kind for kind, opcodes in GROUPS.items() for opcode in opcodes.split()}
KINDS = (*GROUPS, "other")
