// Sphinx shows the pages that hold all words asked for, in the order of their titles. To a question of three words or
// more, this puts first the pages whose titles, headings or index entries share its rarest words.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return; // only the search page has it
  const SCORE = 4; // its place in a hit
  const ASKING = new Set("can could do does have how i me my should what when where which why you".split(" "));
  const stemmer = new Stemmer();
  const stems = (text) => {
    const words = splitQuery(text.toLowerCase()).filter((word) => !stopwords.includes(word));
    return [...new Set(words.map((word) => stemmer.stemWord(word)))];
  };
  const withAllWords = Search.performTermsSearch;

  Search.performTermsSearch = (words, excluded) => {
    const hits = withAllWords(words, excluded);
    if (words.size < 3) return hits;
    const { docnames, filenames, titles, alltitles, indexentries } = Search._index;
    const weights = new Map();
    for (const word of words) {
      const pages = ASKING.has(word) ? 0 : withAllWords(new Set([word]), new Set()).length;
      weights.set(word, pages && Math.log(1 + docnames.length / pages)); // "kernel" stands on every page
    }
    const best = new Map(); // the best hit of each page
    const add = (phrase, places, factor) => {
      const own = stems(phrase);
      const shared = own.filter((word) => weights.has(word));
      const sum = shared.reduce((total, word) => total + weights.get(word), 0);
      const score = (factor * sum * shared.length) / own.length;
      for (const [page, anchor] of places) {
        if (docnames[page] === "glossary" || !sum || score <= (best.get(page)?.[SCORE] ?? 0)) continue;
        const title = factor > 1 || titles[page] === phrase ? titles[page] : `${titles[page]} > ${phrase}`;
        best.set(page, [docnames[page], title, anchor ? `#${anchor}` : "", null, score, filenames[page]]);
      }
    };
    for (const [phrase, places] of Object.entries(alltitles)) add(phrase, places, 1);
    for (const [phrase, places] of Object.entries(indexentries)) add(phrase, places, 1.5); // chosen by the authors
    const first = [...best.values()].sort((a, b) => b[SCORE] - a[SCORE]).slice(0, 5);
    for (const hit of first) hit[SCORE] += 100; // above Sphinx's own, which stay below
    return [...first, ...hits.filter((hit) => first.every((other) => other[0] !== hit[0]))];
  };
});
