// How a withdrawn run's row is marked: struck through (css/withdrawn.css), with the word. As webapp/register/drives/withdrawn.py.
export const struckClass = visibility => visibility === 'withdrawn' ? ' class="withdrawn"' : '';
export const withdrawnMark = visibility => visibility === 'withdrawn' ? ' <span class="fail">withdrawn</span>' : '';
