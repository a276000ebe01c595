"""Trial: anyone has a log read without an account, and sees the verdict. The register stores nothing of it."""
