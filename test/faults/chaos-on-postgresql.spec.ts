import { survivesFaultsOn } from './stage/survive';

describe('Under faults (queues on PostgreSQL)', () => survivesFaultsOn('PostgreSQL'));
