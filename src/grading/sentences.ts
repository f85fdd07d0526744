export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');

/** Lines when there are several, else sentences; bare list numbers are not sentences. */
export function sentencesOf(text: string): string[] {
  const lines = linesOf(text);
  const parts = lines.length > 1 ? lines : text.split(/(?<=[.!?])\s+/);
  return parts.map((part) => part.trim()).filter((part) => part !== '' && !/^\d+[.)]$/.test(part));
}
