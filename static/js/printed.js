// The address of a printed page, with its filters and limits.
addEventListener('beforeprint', () => {
  const {origin, pathname, search} = location, query = new URLSearchParams(search);
  query.delete('key'); // opens private pages, so it must not be printed
  document.querySelector('.printed').textContent = `${origin}${pathname}${query.size ? `?${query}` : ''}`;
});
