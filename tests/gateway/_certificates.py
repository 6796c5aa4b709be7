"""Certificates of an authority of the tests' own, made when they are wanted."""

import shutil
import ssl
import subprocess
from pathlib import Path

OPENSSL = shutil.which("openssl")


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._run(
            "req", "-x509", *_NEW, "-subj", "/CN=tests", "-keyout", "ca.key", "-out", "ca.crt"
        )
        self.pem = (folder / "ca.crt").read_text()

    def server(self, name: str) -> ssl.SSLContext:
        """A server's context whose certificate is of ``name`` and of nobody else."""
        key, asked, signed = f"{name}.key", f"{name}.csr", f"{name}.crt"
        extension = self._folder / f"{name}.ext"
        extension.write_text(f"subjectAltName=DNS:{name}\n")
        self._run("req", *_NEW, "-subj", f"/CN={name}", "-keyout", key, "-out", asked)
        signing = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
        self._run(
            "x509", "-req", "-in", asked, *signing, "-extfile", extension.name, "-out", signed
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._folder / signed, self._folder / key)
        return context

    def _run(self, *arguments: str) -> None:
        assert OPENSSL is not None
        command = [OPENSSL, *arguments]
        subprocess.run(command, cwd=self._folder, check=True, capture_output=True)


_NEW = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
