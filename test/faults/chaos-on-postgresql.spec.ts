import { survivesFaultsOn } from './survive';

describe('Under faults (queues on PostgreSQL)', () => survivesFaultsOn('PostgreSQL'));
