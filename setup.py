"""What pip needs to know; everything is said here, and the version in `aranyani_tf/__init__.py` alone."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).resolve().parent


def version():
    """Read, not imported: importing the package would need TensorFlow, which is not there while pip builds."""
    source = (ROOT / "aranyani_tf" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)[1]


setup(
    name="aranyani_tf",
    version=version(),
    description="Group fairness in online learning with oblique decision forests, for Keras",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="The aranyani_tf authors",
    license="MIT",
    keywords=["fairness", "group fairness", "demographic parity", "online learning", "data streams",
              "oblique decision trees", "soft decision forests", "Keras", "TensorFlow"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    packages=[*find_packages(include=["aranyani_tf", "aranyani_tf.*"]), "aranyani_tf.data"],
    py_modules=["aranyani_command"],
    entry_points={"console_scripts": ["aranyani = aranyani_command:main"]},
    package_dir={"aranyani_tf.data": "data"},  # the wheel carries the data that a checkout has beside the package
    package_data={"aranyani_tf": ["py.typed"], "aranyani_tf.command": ["cost.json"],
                  "aranyani_tf.data": ["*.parquet", "*.npz", "README.md"]},
    install_requires=["tensorflow>=2.21", "keras>=3.15", "numpy>=2.0", "pandas>=2.2", "pyarrow>=15", "tqdm>=4.60",
                      "platformdirs>=4", "filelock>=4", "numba>=0.65", "llvmlite>=0.47"],
    extras_require={
        # The trees, and aranyani_tf.river; scikit-learn for the ceilings.
        "baselines": ["river>=0.26", "scikit-learn>=1.6", "threadpoolctl>=3.1"],
        "embeddings": ["tensorflow-datasets>=4.9.7", "importlib-resources", "torch>=2.6",
                       "transformers>=5", "sentence-transformers>=5",
                       "pillow>=10"],
        # tf2onnx writes ONNX files, onnx checks them; SavedModel and LiteRT need nothing beside TensorFlow.
        "export": ["onnx>=1.20", "tf2onnx>=1.17"],
        "plots": ["matplotlib>=3.9"],  # pictures of the `aranyani` command
        "ray": ["ray>=2.50"],  # aranyani_tf.scale on more than one core or machine; `--ray` of the figures
        # setuptools: `make data` unpacks a source archive, whose setup.py needs it.
        "reproduce": ["filelock>=4", "matplotlib>=3.9", "packaging>=24", "pyyaml>=6", "scikit-learn>=1.5",
                      "scipy>=1.11", "setuptools>=77", "sweeps>=0.2", "wandb>=0.25"],
        "scikit": ["scikit-learn>=1.6"],  # aranyani_tf.scikit
        # The service in examples/service; httptools reads requests by compiled code; psutil sees its memory in a soak.
        "service": ["starlette>=1.0", "uvicorn>=0.40", "httptools>=0.6", "psutil>=6"],
        # ai-edge-litert and onnxruntime are the interpreters of what is exported; prometheus-client's parser reads what
        # FairnessMonitor writes; by httpx2 Starlette's test client asks; cyclonedx-python-lib has the schema of
        # docs/sbom.json, and knows licences by license-expression.
        "test": ["ai-edge-litert>=2", "cyclonedx-python-lib>=11", "fairlearn>=0.13", "httpx2>=2", "hypothesis>=6.100",
                 "mypy>=1.15", "onnxruntime>=1.20", "prometheus-client>=0.20", "psutil>=5.9", "pytest>=8",
                 "pytest-xdist>=3.6", "pyyaml>=6", "ray>=2.50", "ruff>=0.9", "scikit-learn>=1.5", "setuptools>=77",
                 "wheel"],
        "docs": ["pdoc>=15"],
    },
)
