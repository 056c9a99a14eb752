import { Injectable, type PipeTransform } from '@nestjs/common';
import { ApiError } from '../errors/api-error';
import { messageFor } from '../errors/messages';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns a UUID in lower case, and rejects any other value with 400. */
@Injectable()
export class UuidPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!UUID.test(value)) throw new ApiError(400, messageFor.notAnId(value));
    return value.toLowerCase();
  }
}
