from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="aranyani_tf",
    version="0.1.0",
    description="Group fairness in online learning with oblique decision forests, for Keras",
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.11",
    packages=find_packages(include=["aranyani_tf", "aranyani_tf.*"]),
    install_requires=["tensorflow>=2.21", "keras>=3.15", "numpy>=2.0", "pandas>=2.2"],
    extras_require={
        "baselines": ["river>=0.26"],
        "test": ["fairlearn>=0.13", "hypothesis>=6.100", "pytest>=8", "pytest-xdist>=3.6", "ruff>=0.9"],
    },
)
