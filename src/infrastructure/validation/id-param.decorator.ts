import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { UuidPipe } from './uuid.pipe';

/** Validates that a path segment is a UUID (otherwise returns 400), and documents it. */
export const IdParam =
  (name: string, description: string): ParameterDecorator =>
  (target, method, index) => {
    Param(name, UuidPipe)(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string);
    if (descriptor) ApiParam({ name, description, type: String, format: 'uuid' })(target, method as string, descriptor);
  };
