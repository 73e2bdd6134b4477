// A table or listing that is wider than the page gets the keyboard's focus, so that the arrow keys scroll it. The fold in
// the list of pages gets a name.
addEventListener("load", () => {
  for (const region of document.querySelectorAll(".output.text_html, pre"))
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
  for (const fold of document.querySelectorAll("summary:has(> .toctree-toggle)")) fold.ariaLabel = "Pages of this part";
});
