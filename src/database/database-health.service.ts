import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { HealthService } from '../health/health.service';

@Injectable()
export class DatabaseHealthService implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly health: HealthService,
  ) {}

  onModuleInit(): void {
    this.health.register('postgres', async () => void (await this.dataSource.query('select 1')));
  }
}
