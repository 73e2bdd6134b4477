// What explorables share: an element with attributes and children, in HTML or (where `svg` says so) in SVG.
function element(name, attributes = {}, children = [], svg = false) {
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
