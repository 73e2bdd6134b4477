// A question's choices become buttons. The answer's first words repeat the right choice, so a click can be judged.
// The answer moves into the question's box; the folds between the two hold results, which open as well.
document.addEventListener("DOMContentLoaded", () => {
  const text = (node) => node.textContent.trim().replace(/[.:,]$/, "").toLowerCase();
  const beginning = (words) => words.split(/[:;,](?=\s)/)[0];
  for (const question of document.querySelectorAll(".predict")) {
    const folds = [];
    let answer = question.nextElementSibling;
    for (; answer && !answer.matches("details"); answer = answer.nextElementSibling)
      folds.push(...answer.querySelectorAll("details"));
    const verdict = document.createElement("p");
    verdict.setAttribute("role", "status");
    question.append(verdict, ...(answer ? [answer] : []));
    const said = answer ? text(answer.querySelector(".sd-summary-content")) : "";
    const choices = [...question.querySelectorAll(":scope > ul > li")];
    const right =
      choices.find((choice) => said.startsWith(text(choice))) ??
      choices.find((choice) => said.startsWith(beginning(text(choice))));
    for (const choice of choices) {
      const button = document.createElement("button");
      button.append(...choice.childNodes);
      choice.append(button);
      button.addEventListener("click", () => {
        for (const other of question.querySelectorAll(":scope > ul button"))
          other.setAttribute("aria-pressed", other === button);
        if (right) verdict.textContent = choice === right ? "✓ Right." : "✗ Not this one.";
        for (const fold of [...folds, ...(answer ? [answer] : [])]) fold.open = true;
      });
    }
  }
});
