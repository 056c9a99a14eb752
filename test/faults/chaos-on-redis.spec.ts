import { describeOnRedisAlone } from './stage/store-names';
import { survivesFaultsOn } from './stage/survive';

describeOnRedisAlone('Under faults (queues on Redis)', () => survivesFaultsOn('Redis'));
