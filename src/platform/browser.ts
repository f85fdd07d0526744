/** Shows a file to the person at the screen. */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';

type Environment = Readonly<Record<string, string | undefined>>;

/** Values of `BROWSER` by which people say that they want none. */
const none = new Set(['none', 'false', '0']);

/**
 * What opens an address: what `BROWSER` names (the first of a list; `%s` stands for the address), else what the system
 * has; undefined where there is no screen to open it on.
 */
export function browserCommand(platform: string, env: Environment, address: string): string[] | undefined {
  const named = env['BROWSER']?.trim() ?? '';
  if (none.has(named.toLowerCase())) return undefined;
  if (named !== '') {
    const words = (platform === 'win32' ? named : (named.split(':')[0] ?? '')).split(/\s+/);
    return words.some((word) => word.includes('%s'))
      ? words.map((word) => word.replaceAll('%s', () => address))
      : [...words, address];
  }
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', address];
  if (platform === 'darwin') return env['SSH_CONNECTION'] === undefined ? ['open', address] : undefined;
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open', address] : undefined;
}

/** Whether something was started that opens it. The browser lives on by itself. */
export function openInBrowser(path: string, env: Environment, platform: string = process.platform): Promise<boolean> {
  const [program, ...args] = browserCommand(platform, env, pathToFileURL(path).href) ?? [];
  if (program === undefined || program === '') return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
