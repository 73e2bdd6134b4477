from fourways.cli import main

main()
