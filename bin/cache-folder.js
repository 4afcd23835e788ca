// Where Node keeps compiled code between runs. Whoever can write there runs code in this process, so the folder is this user's alone.
// Node's own choice would be a folder of a known name in the shared temporary one, whose owner nobody checks.

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * The folder for compiled code below `$XDG_CACHE_HOME`, or `~/.cache`, made where it is missing; `undefined` where it, or one above
 * it, can be changed by anybody but this user and root: then nothing is kept, and a start takes somewhat longer.
 *
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {string | undefined}
 */
export function compileCacheFolder(env) {
  const { mkdirSync, realpathSync, statSync } = process.getBuiltinModule('node:fs');
  const { dirname, isAbsolute, join } = process.getBuiltinModule('node:path');
  const { HOME = '', USERPROFILE = '', XDG_CACHE_HOME = '' } = env;
  const home = HOME === '' ? USERPROFILE : HOME;
  const base = XDG_CACHE_HOME === '' ? join(home, '.cache') : XDG_CACHE_HOME;
  if (!isAbsolute(base)) return undefined; // also without a home
  try {
    const folder = join(base, 'tranche', 'compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const real = realpathSync(folder);
    const user = process.getuid?.();
    if (user === undefined) return real; // Windows: the profile of a user is that user's alone
    const { uid, mode } = statSync(real);
    if (uid !== user || (mode & 0o077) !== 0) return undefined;
    for (let above = dirname(real), last = real; above !== last; last = above, above = dirname(above)) {
      const facts = statSync(above);
      const isOthers = (facts.mode & WRITABLE_BY_OTHERS) !== 0 && (facts.mode & STICKY) === 0;
      if (isOthers || (facts.uid !== user && facts.uid !== 0)) return undefined;
    }
    return real;
  } catch {
    return undefined; // a user without a home, or a file system that nothing can be written to
  }
}
