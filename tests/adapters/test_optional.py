"""River and scikit-learn are for those who have them."""

import subprocess
import sys


def test_the_package_needs_neither_river_nor_scikit_learn():
    program = ("import sys; sys.modules['river'] = sys.modules['sklearn'] = None\n"
               "import aranyani_tf, aranyani_tf.adapters.resident, aranyani_tf.adapters.named_features\n"
               "for name in ('river', 'scikit'):\n"
               "    try:\n"
               "        __import__(f'aranyani_tf.{name}')\n"
               "    except ImportError as error:\n"
               "        print(error)")
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines() == [
        "aranyani_tf.river needs River: pip install 'aranyani_tf[baselines]'",
        "aranyani_tf.scikit needs scikit-learn: pip install 'aranyani_tf[scikit]'"]
