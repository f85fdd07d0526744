/** The wall clock's regular beat, for what is drawn or written every so often. It never keeps a process alive. */
export const realTicker = {
  now: (): number => Date.now(),
  every(ms: number, fire: () => void): () => void {
    const handle = setInterval(fire, ms);
    handle.unref();
    return () => clearInterval(handle);
  },
};
