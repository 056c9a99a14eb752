import { describeOnRedisAlone } from './store-names';
import { survivesFaultsOn } from './survive';

describeOnRedisAlone('Under faults (queues on Redis)', () => survivesFaultsOn('Redis'));
