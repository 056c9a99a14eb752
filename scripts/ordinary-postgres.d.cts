export interface OrdinaryPostgres {
  url: string;
  pid: number;
  stop(): Promise<void>;
}
export function ordinaryPostgresBin(): string | undefined;
export function startOrdinaryPostgres(): Promise<OrdinaryPostgres>;
