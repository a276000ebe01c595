// What a printed page was made from: its address as it is now, with the filters and limits that were chosen.
addEventListener('beforeprint', () => {
  const {origin, pathname, search} = location, asked = new URLSearchParams(search);
  asked.delete('key'); // opens what is not public: it goes on no paper
  document.querySelector('.printed').textContent = `${origin}${pathname}${asked.size ? `?${asked}` : ''}`;
});
