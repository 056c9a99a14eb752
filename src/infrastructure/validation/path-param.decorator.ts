import { Param } from '@nestjs/common';
import { ApiParam, type ApiParamOptions } from '@nestjs/swagger';

export const PATH_PARAMS = 'validation:path-params';

/** A parameter of the path. `parse` returns it as the handler receives it; throws an `ApiError` with details. */
export interface ParsedParam {
  name: string;
  parse: (text: string) => string;
}

/** Validates a path segment, and documents it. */
export const PathParam =
  (options: ApiParamOptions & ParsedParam): ParameterDecorator =>
  (target, method, index) => {
    const { name, parse, ...documented } = options;
    Param(name)(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string);
    if (!descriptor) return;
    ApiParam({ name, ...documented } as ApiParamOptions)(target, method as string, descriptor);
    const handler = descriptor.value as object;
    const others = (Reflect.getMetadata(PATH_PARAMS, handler) ?? []) as ParsedParam[];
    Reflect.defineMetadata(PATH_PARAMS, [{ name, parse }, ...others], handler);
  };
