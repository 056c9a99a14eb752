import { Link } from 'wouter-preact';
import { Heading } from '../parts/heading';
import { TEXT } from '../text/en';

export const NotFoundScreen = () => (
  <>
    <Heading title="There is no such page" />
    <p>
      <Link href="/">{TEXT.nav.overview}</Link>
    </p>
  </>
);
