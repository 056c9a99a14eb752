export type StoreName = 'PostgreSQL' | 'Redis';
export function storesOf(path: string | undefined): StoreName[];
export function slowFiles(times: Record<string, number>, budgetMs: number): Set<string>;
