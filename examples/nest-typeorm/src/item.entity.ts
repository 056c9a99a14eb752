import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('items')
export class Item {
  @PrimaryColumn('text')
  name!: string;

  @Column('integer', { name: 'in_stock' })
  inStock!: number;
}
