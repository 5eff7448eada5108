"""`python -m aranyani_tf.command`: the `aranyani` command."""

import sys

from aranyani_tf.command.main import main

if __name__ == "__main__":
    sys.exit(main())
