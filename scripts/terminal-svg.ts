/** A terminal's lines, colours included, as a picture: text stays text, and no font has to be exactly as wide as ours. */
import { textWidth } from '../src/reporters/terminal/text-width.ts';

const [cellWidth, lineHeight, fontSize, padding, bar] = [8.4, 19, 14, 18, 30];

interface Look {
  strong: boolean;
  faint: boolean;
  colour: string;
}

const colours: Readonly<Record<string, string>> = { '31': 'bad', '32': 'good', '33': 'warn', '36': 'mark' };

function change(look: Look, code: string): void {
  if (code === '1') look.strong = true;
  else if (code === '2') look.faint = true;
  else if (code === '22') Object.assign(look, { strong: false, faint: false });
  else if (code === '39') look.colour = '';
  else if (code === '' || code === '0') Object.assign(look, { strong: false, faint: false, colour: '' });
  else look.colour = colours[code] ?? look.colour;
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function line(text: string, at: number): string {
  const look: Look = { strong: false, faint: false, colour: '' };
  let column = 0;
  let out = '';
  for (const part of text.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith('\u001b')) {
      for (const code of part.slice(2, -1).split(';')) change(look, code);
      continue;
    }
    if (part === '') continue;
    const kind = [look.strong ? 'strong' : '', look.faint ? 'faint' : '', look.colour]
      .filter((name) => name !== '')
      .join(' ');
    const wide = textWidth(part) * cellWidth;
    const x = (padding + column * cellWidth).toFixed(1);
    out += `<tspan x="${x}" textLength="${wide.toFixed(1)}"${kind === '' ? '' : ` class="${kind}"`}>${escapeXml(part)}</tspan>`;
    column += textWidth(part);
  }
  const y = (bar + padding + at * lineHeight).toFixed(1);
  return out === '' ? '' : `<text xml:space="preserve" y="${y}">${out}</text>\n`;
}

const style = `text{font:${fontSize}px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}
.strong{font-weight:700;fill:#fff}.faint{fill:#8b929d}.bad{fill:#ff8a80}.good{fill:#7fd39a}.warn{fill:#f2c06b}.mark{fill:#7cc4e8}
.title{fill:#8b929d}`;

export function terminalSvg(lines: readonly string[], columns: number, title: string): string {
  const width = Math.ceil(padding * 2 + columns * cellWidth);
  const height = Math.ceil(bar + padding * 2 + (lines.length - 1) * lineHeight);
  const dots = [0, 1, 2].map((at) => `<circle cx="${20 + at * 20}" cy="16" r="5.5" fill="#3d434c"/>`).join('');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">\n` +
    `<style>${style}</style>\n<rect width="100%" height="100%" rx="8" fill="#16191d"/>\n${dots}` +
    `<text class="title" x="${width / 2}" y="21" text-anchor="middle">${escapeXml(title)}</text>\n` +
    `${lines.map(line).join('')}</svg>\n`
  );
}
