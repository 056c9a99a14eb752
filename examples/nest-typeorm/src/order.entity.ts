import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column('text')
  customer!: string;

  @Column('text')
  item!: string;

  @Column('timestamptz', { name: 'paid_at', nullable: true })
  paidAt!: Date | null;
}
