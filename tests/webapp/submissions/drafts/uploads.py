"""Uploads by the tus protocol for the tests of drafts."""

import base64

BODY = "application/offset+octet-stream"


def announce(client, size, name="load.log", **metadata):
    """Announce a file, and return the response."""
    values = {"filename": name} | metadata
    pairs = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in values.items())
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": pairs}
    return client.post("/uploads/", headers=headers)


def append(client, address, offset, content):
    """Send a piece, and return the response."""
    headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(offset)}
    return client.patch(address, content, content_type=BODY, headers=headers)


def received(client, address):
    """Return how many bytes the register reports."""
    return int(client.head(address, headers={"Tus-Resumable": "1.0.0"}).headers["Upload-Offset"])


def upload(client, content, name="load.log", **metadata):
    """Send a whole file, and return the id of its draft."""
    answer = announce(client, len(content), name, **metadata)
    assert answer.status_code == 201, answer.text
    if content:
        assert append(client, answer.headers["Location"], 0, content).status_code == 204
    return answer.headers["Drivecert-Draft"]
