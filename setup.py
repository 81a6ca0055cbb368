"""All package facts live in settings.ini; this file hands them to setuptools."""

from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup

ini = ConfigParser(delimiters=["="])
ini.read(Path(__file__).with_name("settings.ini"), encoding="utf-8")
facts = ini["DEFAULT"]
package = facts["lib_path"]

setup(
    name=facts["lib_name"],
    version=facts["version"],
    description=facts["description"],
    author=facts["author"],
    license=facts["license"].upper(),
    keywords=facts["keywords"].split(),
    python_requires=">=" + facts["min_python"],
    packages=find_packages(include=[package, package + ".*"]),
    package_data={package: ["py.typed"], package + ".data": ["*.npz", "*.txt"]},
    install_requires=facts["requirements"].split(),
    extras_require={"dev": facts["dev_requirements"].split()},
    entry_points={
        "console_scripts": [f"simgpu={package}.cli:main"],
        "nbdev": [f"{package}={package}._modidx:d"],
    },
    zip_safe=False,
)
