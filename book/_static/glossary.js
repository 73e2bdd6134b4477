// A term that links to the glossary shows its definition on hover, on focus, and on a tap. A second tap follows the link.
document.addEventListener("DOMContentLoaded", () => {
  let shown, timer, pointer;
  const place = () => {
    if (!shown) return;
    const { left, top, bottom } = shown.link.getClientRects()[0]; // the first line's part of the term
    const { width, height } = shown.popover.getBoundingClientRect();
    const right = document.documentElement.clientWidth - width - 8;
    shown.popover.style.left = `${Math.max(8, Math.min(left, right))}px`;
    shown.popover.style.top = `${bottom + height + 12 < innerHeight ? bottom + 4 : top - height - 4}px`;
  };
  const hide = () => {
    clearTimeout(timer);
    shown?.popover.hidePopover();
    shown = undefined;
  };
  const show = (link, popover) => {
    hide();
    popover.showPopover();
    shown = { link, popover };
    place();
  };
  for (const [number, word] of document.querySelectorAll(".glossary-term").entries()) {
    const link = word.closest("a");
    const popover = document.createElement("div");
    Object.assign(popover, { id: `definition-${number}`, className: "definition", popover: "manual", role: "tooltip" });
    popover.innerHTML = GLOSSARY[link.hash.slice(1)];
    document.body.append(popover);
    link.setAttribute("aria-describedby", popover.id);
    const isShown = () => shown?.popover === popover;
    for (const element of [link, popover]) {
      element.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "touch") return;
        clearTimeout(timer);
        if (!isShown()) timer = setTimeout(show, 200, link, popover);
      });
      element.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "touch") return;
        clearTimeout(timer);
        if (isShown()) timer = setTimeout(hide, 200); // time to cross from the term to its definition
      });
    }
    link.addEventListener("focus", () => link.matches(":focus-visible") && show(link, popover));
    link.addEventListener("blur", () => isShown() && hide());
    link.addEventListener("click", (event) => {
      if (pointer !== "touch" || !event.detail || isShown()) return; // a key's click has no detail
      event.preventDefault();
      show(link, popover);
    });
  }
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("pointerdown", (event) => {
    pointer = event.pointerType;
    if (!event.target.closest?.(".definition, a:has(> .glossary-term)")) hide();
  });
  addEventListener("scroll", place, { passive: true });
});
