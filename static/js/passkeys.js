// Shows a message where the browser used no passkey: none for this site, a cancelled request, or an IP address.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.getElementById("passkey-error").hidden = false;
});
