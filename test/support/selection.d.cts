export type Half = 'first' | 'rest';
export function halves(path: string | undefined): Half[];
