import type { AnyStrategy } from '../../src/strategy/kernel.ts';
import { codeIn } from '../../src/strategy/kinds/module/module-code.ts';
import { module } from '../../src/strategy/kinds/module/module.ts';

/** The kind `module` with this kernel as its code, as a module that exports it would give. */
export function moduleWith(kernel: unknown): AnyStrategy {
  const code = codeIn({ kernel });
  if ('problem' in code) throw new Error(code.problem);
  const kind = module.withCode?.(code);
  if (kind === undefined) throw new Error('no kind');
  return kind;
}
