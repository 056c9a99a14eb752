import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { AddressPolicy } from './address';
import { HttpClient } from './http.client';

@Module({
  providers: [
    {
      provide: AddressPolicy,
      inject: [Config],
      useFactory: (config: Config) => new AddressPolicy(config.allowedNetworks),
    },
    {
      provide: HttpClient,
      inject: [Config, AddressPolicy],
      useFactory: (config: Config, policy: AddressPolicy) =>
        new HttpClient({
          policy,
          dnsServers: config.dnsServers,
          timeoutMs: config.deliveryTimeoutMs,
          requireHttps: config.requireHttps,
          trustedCertificates: config.egressCaFile ?? undefined,
          proxy: config.egressProxy,
          proxyResolves: config.egressProxyResolves,
        }),
    },
  ],
  exports: [AddressPolicy, HttpClient],
})
export class DestinationsModule {}
