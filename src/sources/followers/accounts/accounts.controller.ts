import { setImmediate as nextTurn } from 'node:timers/promises';
import { Body, Controller, Delete, Get, Post, Put, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../../auth/access-token';
import { CurrentUser, LargeBody, MANAGEMENT, Scopes } from '../../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../../infrastructure/http/api-answer.decorator';
import { PageQueryDto } from '../../../infrastructure/pagination/dto/page-query.dto';
import type { Page } from '../../../infrastructure/pagination/page';
import { IdParam, ParsedBody, Rules } from '../../../infrastructure/validation/api-request.decorator';
import type { Follower } from '../follower';
import { AccountsService } from './accounts.service';
import {
  AccountDto,
  CreateAccountDto,
  DeletedAccountDto,
  FollowersChangeDto,
  FollowerListDto,
} from './dto/account.dto';
import { parsePushedFollowers } from './pushed-followers';

const EXAMPLES = {
  'pushed by you': { value: { provider: 'push', handle: 'ada' } },
  Mastodon: { value: { provider: 'mastodon', handle: 'ada@mastodon.social' } },
};

@ApiTags('Accounts')
@Controller('api/accounts')
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

  @Post()
  @Scopes('accounts:manage')
  @Rules(AccountsService)
  @ApiRoute(
    'Connect a social account',
    'The service reads its followers from now on and publishes follower.gained and follower.lost.',
  )
  @ApiBody({ type: CreateAccountDto, examples: EXAMPLES })
  @ApiAnswer(AccountDto, 'The connected account.', { status: 201, headers: ['location'] })
  @ApiErrors(...BODY_ERRORS, 'account_limit_reached')
  async createAccount(
    @CurrentUser() { userId }: Principal,
    @Body() body: CreateAccountDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountDto> {
    const account = await this.accounts.create(userId, body);
    void reply.header('location', `/api/accounts/${account.id}`);
    return AccountDto.from(account);
  }

  @Get()
  @Scopes('accounts:manage')
  @ApiRoute('List your accounts', 'Newest first.')
  @ApiAnswer(AccountDto, 'One page of accounts.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid')
  async listAccounts(@CurrentUser() { userId }: Principal, @Query() query: PageQueryDto): Promise<Page<AccountDto>> {
    return (await this.accounts.list(userId, query)).map(AccountDto.from);
  }

  @Get(':id')
  @Scopes('accounts:manage')
  @ApiRoute('Read an account')
  @ApiAnswer(AccountDto, 'The account.')
  @ApiErrors('validation_failed', 'not_found')
  async getAccount(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the account.') id: string,
  ): Promise<AccountDto> {
    return AccountDto.from(await this.accounts.read(userId, id));
  }

  @Delete(':id')
  @Scopes('accounts:manage')
  @ApiRoute('Disconnect an account', 'Deletes its followers without publishing events.')
  @ApiAnswer(DeletedAccountDto, 'The id of the disconnected account.')
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async deleteAccount(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the account.') id: string,
  ): Promise<DeletedAccountDto> {
    await this.accounts.remove(userId, id);
    return { id };
  }

  @Put(':id/followers')
  @LargeBody('list', 'accounts:manage', MANAGEMENT)
  @ApiRoute(
    'Push the followers of an account',
    'Send the whole list, up to 16 MiB. Differences from the last list are published; the first list is only stored.',
  )
  @ApiBody({ type: FollowerListDto })
  @ApiAnswer(FollowersChangeDto, 'The number of stored followers and published events.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'not_a_push_account')
  async replaceFollowers(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of a push account.') id: string,
    @ParsedBody((body) => parsePushedFollowers(body, nextTurn)) followers: Follower[],
  ): Promise<FollowersChangeDto> {
    return this.accounts.putFollowers(userId, id, followers);
  }
}
