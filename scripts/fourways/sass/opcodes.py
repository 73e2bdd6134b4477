"""SASS opcodes by kind, Turing to Blackwell.

The opcodes are those of NVIDIA's "CUDA Binary Utilities", section "Instruction Set Reference"
(docs.nvidia.com/cuda/cuda-binary-utilities, an edition that names Rubin), from Turing to Rubin, and F2FP, which no
table lists. The kinds follow NVIDIA's groups, with three exceptions:
- a load or store, uniform ones too, belongs to the memory that it names, and so does REDG, which the tables call
  generic; "generic" are those whose address alone decides;
- NVIDIA's floating-point group is split into "fp16", "fp32" and "fp64"; its four groups of matrix instructions are
  "tensor" here;
- "sync" gathers barriers, fences and cache control; "warp" gathers communication between the threads of a warp.
"""

GROUPS = {
    "global": "LDG LDGDEPBAR LDGMC LDGSTS STG ATOMG REDG UREDGR USTGR",
    "shared": "LDS LDSM STS STSM STAS ATOMS REDAS REDS UMEMSETS",
    "local": "LDL STL",
    "constant": "LDC LDCU ULDC",
    "generic": "LD ST ATOM RED QSPC",
    "tma": "UBLKCP UBLKL2CCTL UBLKPF UBLKRED UTMACCTL UTMACMDFLUSH UTMAL2CCTL UTMALDG UTMAPF UTMAREDG UTMASTG",
    "fp16": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2 VHMNMX",
    "fp32": "FADD FADD2 FADD32I FCHK FFMA FFMA2 FFMA32I FHADD FHADD2 FHFMA FHFMA2 FHMUL2 FMNMX FMNMX3 FMUL FMUL2 "
    "FMUL32I FSEL FSET FSETP FSWZADD MUFU",
    "fp64": "DADD DFMA DMUL DSETP",
    "tensor": "BMMA DMMA HMMA IMMA OMMA QMMA BGMMA HGMMA IGMMA QGMMA LDT LDTM STT STTM "
    "UTCATOMSWS UTCBAR UTCCP UTCHMMA UTCIMMA UTCOMMA UTCQMMA UTCSHIFT",
    "integer": "BMSK BREV DECOMPRESS FLO IABS IADD IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I "
    "ISETP LEA LOP LOP3 LOP32I POPC SHF SHL SHR SPARSIFY VABSDIFF VABSDIFF4 VIADD VIADDMNMX VIMNMX VIMNMX3 VISET",
    "conversion": "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP",
    "move": "MOV MOV32I MOV64IUR MOVM PRMT SEL SGXT",
    "predicate": "P2R PLOP3 PSETP R2P",
    "uniform": "CS2UR R2UR S2UR UBMSK UBREV UCLEA UF2F UF2FP UF2I UF2IP UFADD UFFMA UFLO UFMNMX UFMUL UFRND UFSEL "
    "UFSET UFSETP UGETNEXTWORKID UI2F UI2FP UI2I UI2IP UIABS UIADD3 UIMAD UIMNMX UISETP ULEA ULEPC ULOP ULOP3 ULOP32I "
    "UMOV UP2UR UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USETMAXREG USGXT USHF USHL USHR UVIADD UVIMNMX UVIRTCOUNT",
    "warp": "CREDUX MATCH REDUX SHFL VOTE VOTEU",
    "texture": "TEX TLD TLD4 TMML TXD TXQ SUATOM SULD SURED SUST",
    "sync": "B2R BAR CCTL CCTLL CCTLT CGAERRBAR DEPBAR ERRBAR FENCE MEMBAR R2B SYNCS SYNCSU UCGABAR_ARV UCGABAR_WAIT "
    "USYNCS WARPGROUP WARPGROUPSET WARPSYNC",
    "control": "ACQBULK ACQSHMINIT BMOV BPT BRA BREAK BRX BRXU BSSY BSYNC CALL ELECT ENDCOLLECTIVE EXIT JMP JMX JMXU "
    "KILL NANOSLEEP PREEXIT RET RPCMOV RTT YIELD",
    "special": "CS2R GETLMEMBASE LEPC NOP PMTRIG S2R SETCTAID SETLMEMBASE",
}
KIND = {opcode: kind for kind, opcodes in GROUPS.items() for opcode in opcodes.split()}


def kind(opcode: str) -> str:
    """Return the kind of an opcode, whatever its modifiers and its use.

    `IMAD.MOV.U32` is "integer" although it only moves a register, and `HFMA2` is "fp16" even where it only makes a
    constant. An opcode in no group is "uniform" if it starts with U, else "other".
    """
    base = opcode.split(".")[0]
    return KIND.get(base, "uniform" if base.startswith("U") else "other")
