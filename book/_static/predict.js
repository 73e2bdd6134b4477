// A question's choices become buttons. Whoever has chosen sees the answer: the folds up to it open.
document.addEventListener("DOMContentLoaded", () => {
  for (const question of document.querySelectorAll(".predict")) {
    for (const choice of question.querySelectorAll("li")) {
      const button = document.createElement("button");
      button.append(...choice.childNodes);
      choice.append(button);
      button.addEventListener("click", () => {
        for (const other of question.querySelectorAll("button"))
          other.setAttribute("aria-pressed", other === button);
        let next = question.nextElementSibling;
        for (; next && !next.matches("details"); next = next.nextElementSibling)
          for (const fold of next.querySelectorAll("details")) fold.open = true;
        if (next) next.open = true;
      });
    }
  }
});
