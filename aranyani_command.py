"""What the console script `aranyani` starts: the command, without TensorFlow's chatter about drivers on the way.

It lies outside of the package, since TensorFlow is imported with the package, before any line of a module in it is run.
"""

import os
import sys
import tempfile


def main() -> int:
    sys.stderr.flush()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    kept = os.dup(2)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 2)  # TensorFlow says some of it before it reads the level
        try:
            from aranyani_tf.command.main import main as command
        except KeyboardInterrupt:
            return 130
        except BaseException:
            said.seek(0)
            os.write(kept, said.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
    return command()


if __name__ == "__main__":
    sys.exit(main())
