"""The pages of certificates: what each certifies, what it is based on, and its state."""
