"""An issuer of identity tokens: its discovery document and keys over HTTP, and tokens signed by another library."""

import base64
import hmac
import json
import threading
import time
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jws, jwt
from joserfc.jwk import ECKey, RSAKey

AUDIENCE = "https://register.example"
KEY_KINDS = ("RS256", "PS256", "ES256")


@cache
def key_of(algorithm, number=0):
    """Return a private key for an algorithm; another number is another key."""
    columns = {"kid": f"{algorithm}-{number}", "use": "sig", "alg": algorithm}
    if algorithm == "ES256":
        return ECKey.generate_key("P-256", columns, private=True)
    return RSAKey.generate_key(2048, columns, private=True)


class Issuer:
    """A CI service with one key at a time. `requested` lists the paths that were requested."""

    def __init__(self, port):
        self.address = f"http://127.0.0.1:{port}"
        self.requested, self.documents = [], {}
        self.use_key("RS256")

    def use_key(self, algorithm):
        """Sign with the key of an algorithm, and state only that one."""
        self.key, self.algorithm = key_of(algorithm), algorithm
        self.documents["/.well-known/openid-configuration"] = {
            "issuer": self.address,
            "jwks_uri": f"{self.address}/keys",
        }
        self.documents["/keys"] = {"keys": [self.key.as_dict(private=False)]}

    def claims(self, **changed):
        """Return the claims of a job. A change to None leaves the claim out."""
        now = int(time.time())
        claims = {"iss": self.address, "aud": AUDIENCE, "sub": "repo:exemplar/firmware", "iat": now, "exp": now + 300,
                  "repository": "exemplar/firmware", "ref": "refs/heads/main", "jti": f"{time.time_ns()}"}  # fmt: skip
        return {name: each for name, each in (claims | changed).items() if each is not None}

    def token(self, header=None, **changed):
        """Return an identity token of a job."""
        stated = {"alg": self.algorithm, "kid": self.key.kid} | (header or {})
        return jwt.encode(stated, self.claims(**changed), self.key, algorithms=[stated["alg"]])

    def signed(self, claims):
        """Return an identity token with any claims, also those that the library of the issuer refuses."""
        header = {"alg": self.algorithm, "kid": self.key.kid}
        return jws.serialize_compact(header, json.dumps(claims), self.key, algorithms=[self.algorithm])

    def token_by_secret(self, secret, **changed):
        """Return an identity token that states this issuer's key, but is signed with a shared secret."""
        signed = f"{part({'alg': 'HS256', 'kid': self.key.kid})}.{part(self.claims(**changed))}"
        return f"{signed}.{encoded(hmac.digest(secret, signed.encode(), 'sha256'))}"

    def token_by(self, key):
        """Return an identity token that states this issuer's key, but is signed with another one."""
        return jwt.encode({"alg": key.alg, "kid": self.key.kid}, self.claims(), key, algorithms=[key.alg])


def encoded(content):
    """Return bytes as a part of a token."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def part(value):
    """Return an object as a part of a token."""
    return encoded(json.dumps(value).encode())


@contextmanager
def running_issuer():
    """Run an issuer on a port of its own."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            issuer.requested.append(self.path)
            found = issuer.documents.get(self.path)
            body = json.dumps(found).encode() if not isinstance(found, bytes) else found
            self.send_response(200 if found is not None else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = Issuer(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
