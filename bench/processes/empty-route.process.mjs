// The maximum throughput of Nest and Fastify: one POST route that validates its body and responds, and does nothing
// else.
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IsObject, IsString } from 'class-validator';
import { serve } from './remote.mjs';

class EmptyRequest {}
IsString()(EmptyRequest.prototype, 'event');
IsObject()(EmptyRequest.prototype, 'data');

class EmptyController {
  accept({ event }) {
    return { success: true, data: { event } };
  }
}

// Applies by hand what decorators would do, because nothing compiles this file.
const method = { value: EmptyController.prototype.accept };
Reflect.defineMetadata('design:paramtypes', [EmptyRequest], EmptyController.prototype, 'accept');
Body()(EmptyController.prototype, 'accept', 0);
HttpCode(202)(EmptyController.prototype, 'accept', method);
Post('events')(EmptyController.prototype, 'accept', method);
Controller('api')(EmptyController);

class EmptyModule {}
Module({ controllers: [EmptyController] })(EmptyModule);

const app = await NestFactory.create(EmptyModule, new FastifyAdapter(), { logger: false });
app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
await app.listen(0, '127.0.0.1');

serve({ url: () => `http://127.0.0.1:${app.getHttpServer().address().port}` });
