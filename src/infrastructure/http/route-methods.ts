/** True for the routes that require a token and use the envelope. Undefined stands for a request without a route. */
export const isApiRoute = (route: string | undefined): boolean => route?.startsWith('/api/') ?? false;

/** The methods of each path. Paths are patterns, such as `/api/webhooks/:id`. */
export class RouteMethods {
  private readonly routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(path: string, methods: readonly string[]): void {
    const route = this.routes.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const method of methods) route.methods.add(method);
    this.routes.set(path, route);
  }

  /**
   * Returns the methods of a path in alphabetical order; empty for an unknown path. A path with its own route does not
   * get the methods of a route with a parameter that also matches.
   */
  of(path: string): string[] {
    const own = this.own(path);
    if (own) return [...own].sort();
    const found = [...this.routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }

  /** True when a path has its own route and this method does not belong to it. */
  isForeign(path: string, method: string): boolean {
    return this.own(path)?.has(method) === false;
  }

  private own(path: string): ReadonlySet<string> | undefined {
    return path.includes(':') ? undefined : this.routes.get(path)?.methods;
  }
}

/** A segment `:name` matches any one segment, and `*` matches the rest. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[^\w-]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
