const shown = (selector) => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility())
return [
  [...document.querySelectorAll("details:not([open])")].map(fold => fold.textContent.slice(0, 80)),
  shown("article pre").filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent),
  shown(".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-area").map(part => part.className),
]
