/** The explicit end of a conversation without tools. */
export interface Marked {
  readonly text: string;
  readonly ended: boolean;
}

/** Finds the marker and takes it out of the words. Specifications only hold markers that no ordinary word contains. */
export function readEndMarker(text: string, marker: string | undefined): Marked {
  if (marker === undefined || !text.includes(marker)) return { text, ended: false };
  return { text: text.replaceAll(marker, '').trim(), ended: true };
}
