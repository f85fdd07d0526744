/** Whether a name fits a pattern with `*` (anything) and `?` (one character), case being equal. */
export function matchesGlob(name: string, pattern: string): boolean {
  const text = name.toLowerCase();
  const glob = pattern.toLowerCase();
  let at = 0;
  let want = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (glob[want] === '*') {
      star = want;
      want += 1;
      resume = at;
    } else if (want < glob.length && (glob[want] === '?' || glob[want] === text[at])) {
      at += 1;
      want += 1;
    } else if (star >= 0) {
      want = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  return /^\**$/.test(glob.slice(want));
}
