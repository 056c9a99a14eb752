/** Which methods each path has. Paths are patterns, such as `/api/webhooks/:id`. */
export class RouteMethods {
  private readonly routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  /** Takes note of a route. */
  add(path: string, methods: readonly string[]): void {
    const route = this.routes.get(path) ?? { pattern: patternOf(path), methods: new Set<string>() };
    for (const method of methods) route.methods.add(method);
    this.routes.set(path, route);
  }

  /**
   * The methods of a path, in alphabetical order; none: there is no such path. A path with a route of its own does not
   * have those of a route with a parameter that could stand for it.
   */
  of(path: string): string[] {
    const own = this.own(path);
    if (own) return [...own].sort();
    const found = [...this.routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  }

  /** Whether a path has a route of its own, and this method does not belong to it. */
  isForeign(path: string, method: string): boolean {
    return this.own(path)?.has(method) === false;
  }

  private own(path: string): ReadonlySet<string> | undefined {
    return path.includes(':') ? undefined : this.routes.get(path)?.methods;
  }
}

/** A segment `:name` is any one segment, and `*` is everything from there on. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : segment.replaceAll(/[^\w-]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
