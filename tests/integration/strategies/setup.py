"""The package of the programs in trainer/. With it comes what they report by, from wherever pip finds it."""
from setuptools import find_packages, setup

setup(name="trainer", version="1.0", packages=find_packages(), install_requires=["cloudml-hypertune==0.1.0.dev6"])
