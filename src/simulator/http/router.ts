import type { Route } from './routes.ts';

export interface FoundRoute {
  readonly route: Route;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
}

/** The route of a request; otherwise the methods that the path supports (none if the path is unknown). */
export type Routed = FoundRoute | { readonly route?: undefined; readonly allowed: readonly string[] };

interface Pattern {
  readonly steps: readonly string[];
  readonly route: Route;
}

/** Finds routes by method and path. Paths without parameters take precedence. */
export class Router {
  private readonly exact = new Map<string, Route>();
  private readonly patterns: readonly Pattern[];
  private readonly paths = new Map<string, string[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      if (!route.path.includes(':')) this.exact.set(`${route.method} ${route.path}`, route);
      this.paths.set(route.path, [...(this.paths.get(route.path) ?? []), route.method]);
    }
    this.patterns = routes
      .filter(({ path }) => path.includes(':'))
      .map((route) => ({ steps: route.path.split('/'), route }));
  }

  /** `path` is as received, without the query. */
  find(method: string, path: string): Routed {
    const route = this.exact.get(`${method} ${path}`);
    if (route !== undefined) return { route, params: {} };
    const isKnown = this.paths.get(path);
    const steps = path.split('/');
    const matches = this.patterns.flatMap((pattern) => {
      const params = paramsOf(pattern.steps, steps);
      return params === undefined ? [] : [{ route: pattern.route, params }];
    });
    const found = matches.find((match) => match.route.method === method);
    if (found !== undefined) return found;
    return { allowed: [...(isKnown ?? []), ...matches.map((match) => match.route.method)] };
  }
}

function paramsOf(
  pattern: readonly string[],
  steps: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== steps.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, want] of pattern.entries()) {
    const step = steps[index] ?? '';
    if (!want.startsWith(':')) {
      if (want !== step) return undefined;
      continue;
    }
    const value = decoded(step);
    if (value === undefined || value === '') return undefined;
    params[want.slice(1)] = value;
  }
  return params;
}

function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step);
  } catch {
    return undefined;
  }
}
