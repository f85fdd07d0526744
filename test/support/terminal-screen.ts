/** As much of a terminal as the painter uses: lines, a cursor, erasing, scrolling. */
export function terminalScreen(rows: number) {
  let lines: string[] = Array.from({ length: rows }, () => '');
  const gone: string[] = [];
  let row = 0;
  let column = 0;
  const put = (character: string): void => {
    const line = (lines[row] ?? '').padEnd(column);
    lines[row] = line.slice(0, column) + character + line.slice(column + 1);
    column++;
  };
  const newLine = (): void => {
    column = 0;
    if (row < rows - 1) row++;
    else {
      gone.push(lines[0] ?? '');
      lines = [...lines.slice(1), ''];
    }
  };
  const control = (code: string, count: number): void => {
    if (code === 'A') row = Math.max(0, row - count);
    if (code === 'B') row = Math.min(rows - 1, row + count);
    if (code === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
    if (code === 'J') lines = lines.map((line, at) => (at < row ? line : at === row ? line.slice(0, column) : ''));
  };
  return {
    write(text: string) {
      for (const [, count, code, character] of text.matchAll(/\u001b\[\??([0-9;]*)([A-Za-z])|([\s\S])/gu)) {
        if (code !== undefined) control(code, Number(count || 1));
        else if (character === '\n') newLine();
        else if (character === '\r') column = 0;
        else put(character ?? '');
      }
    },
    text: () => [...gone, ...lines].join('\n').trimEnd(),
  };
}
