-- Accounts 1001 (with alias 'A5' of two bytes and an EVM address) to 1003, contract 1004, and the treasury 2.
insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, deleted, alias, evm_address, public_key, memo) values
  (2, 2, 0, 0, 'ACCOUNT', '[1,)', 1, false, null, null, null, ''),
  (1001, 1001, 0, 0, 'ACCOUNT', '[1,)', 1, false, '\x07aa', '\xaabbccddeeff00112233445566778899aabbccdd', '5555555555555555555555555555555555555555555555555555555555555555', ''),
  (1002, 1002, 0, 0, 'ACCOUNT', '[1,)', 1, null, null, null, '4444444444444444444444444444444444444444444444444444444444444444', ''),
  (1003, 1003, 0, 0, 'ACCOUNT', '[1,)', 1, true, null, null, '4444444444444444444444444444444444444444444444444444444444444444', ''),
  (1004, 1004, 0, 0, 'CONTRACT', '[1,)', 1, false, null, null, '4444444444444444444444444444444444444444444444444444444444444444', '');

-- Tokens: 1500 fungible, changed twice; 1501 with serials; 1502 without custom fees; 1503 deleted, with serials; 1504 without entity; 1506 with serials.
insert into entity (id, num, realm, shard, type, timestamp_range, created_timestamp, deleted, key, public_key, memo, auto_renew_account_id, auto_renew_period, expiration_timestamp) values
  (1500, 1500, 0, 0, 'TOKEN', '[1234567890000000005,)', 1234567890000000001, false, '\x1220aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'now', 1001, 10, null),
  (1501, 1501, 0, 0, 'TOKEN', '[1234567890000000001,)', 1234567890000000001, null, null, null, 'art', 0, null, 9000000000000000007),
  (1502, 1502, 0, 0, 'TOKEN', '[1234567890000000001,)', 1234567890000000001, false, null, null, '', null, null, null),
  (1503, 1503, 0, 0, 'TOKEN', '[1234567890000000009,)', 1234567890000000001, true, null, null, '', null, null, null),
  (1506, 1506, 0, 0, 'TOKEN', '[1234567890000000001,)', 1234567890000000001, false, null, null, '', null, null, null);
insert into entity_history (id, num, realm, shard, type, timestamp_range, created_timestamp, deleted, memo) values
  (1500, 1500, 0, 0, 'TOKEN', '[1234567890000000001,1234567890000000005)', 1234567890000000001, false, 'before');
insert into token (token_id, created_timestamp, decimals, freeze_default, freeze_key, initial_supply, kyc_key, name, supply_key, symbol, total_supply,
  treasury_account_id, wipe_key, max_supply, supply_type, type, fee_schedule_key, pause_key, pause_status, timestamp_range, freeze_status, kyc_status, metadata, metadata_key) values
  (1500, 1234567890000000001, 3, true, '\x3200', 9223372036854775807, null, 'First Coin', '\x0a00', 'FIRST', 9007199254740993, 1001, null, 9223372036854775807, 'FINITE',
   'FUNGIBLE_COMMON', null, null, 'PAUSED', '[1234567890000000003,)', 1, 2, '\x0102', null),
  (1501, 1234567890000000001, 0, false, null, 0, null, 'First 100%_Art', null, 'ART', 4, 0, null, 100, 'INFINITE',
   'NON_FUNGIBLE_UNIQUE', null, null, 'NOT_APPLICABLE', '[1234567890000000001,)', 0, 0, null, null),
  (1502, 1234567890000000001, 1, false, null, 0, null, 'Feeless', null, 'LESS', 0, 1002, null, 100, 'INFINITE',
   'FUNGIBLE_COMMON', null, null, 'UNPAUSED', '[1234567890000000001,)', 2, 1, null, null),
  (1503, 1234567890000000001, 0, false, null, 0, null, 'Gone', null, 'GONE', 0, 1002, null, 100, 'INFINITE',
   'NON_FUNGIBLE_UNIQUE', null, null, 'NOT_APPLICABLE', '[1234567890000000001,)', 0, 0, null, null),
  (1504, 1234567890000000001, 0, false, null, 0, null, 'First of nobody', null, 'NONE', 0, 1002, null, 100, 'INFINITE',
   'FUNGIBLE_COMMON', null, null, 'NOT_APPLICABLE', '[1234567890000000001,)', 0, 0, null, null),
  (1506, 1234567890000000001, 0, false, null, 0, null, 'ℏ', null, 'H', 0, 1002, null, 100, 'INFINITE',
   'NON_FUNGIBLE_UNIQUE', null, null, 'NOT_APPLICABLE', '[1234567890000000001,)', 0, 0, null, null);
insert into token_history (token_id, created_timestamp, decimals, initial_supply, name, symbol, total_supply, treasury_account_id, type, timestamp_range, freeze_status, kyc_status) values
  (1500, 1234567890000000001, 3, 5, 'Old Coin', 'OLD', 5, 1002, 'FUNGIBLE_COMMON', '[1234567890000000001,1234567890000000003)', 0, 0);
insert into custom_fee (entity_id, timestamp_range, fixed_fees, fractional_fees, royalty_fees) values
  (1500, '[1234567890000000007,)', '[{"amount":9007199254740993,"collector_account_id":1001,"denominating_token_id":null},{"all_collectors_are_exempt":true,"amount":7,"collector_account_id":1002,"denominating_token_id":1500}]',
   '[{"collector_account_id":1003,"denominator":11,"maximum_amount":null,"minimum_amount":0,"numerator":1},{"all_collectors_are_exempt":true,"collector_account_id":1002,"denominator":3,"maximum_amount":50,"minimum_amount":2,"net_of_transfers":true,"numerator":2}]',
   '[{"collector_account_id":1002,"denominator":3,"numerator":2}]'),
  (1501, '[1234567890000000001,)', null, '[{"collector_account_id":1003,"denominator":11,"minimum_amount":0,"numerator":1}]',
   '[{"all_collectors_are_exempt":true,"collector_account_id":1002,"denominator":3,"numerator":2,"fallback_fee":{"amount":5,"denominating_token_id":1500}},{"collector_account_id":1002,"denominator":3,"numerator":1,"fallback_fee":{"amount":0}},{"collector_account_id":1002,"denominator":3,"numerator":1,"fallback_fee":{"amount":8,"denominating_token_id":null}}]');
insert into custom_fee_history (entity_id, timestamp_range, fixed_fees, fractional_fees) values
  (1500, '[1234567890000000002,1234567890000000007)', null, '[]');

insert into token_account (account_id, token_id, associated, automatic_association, balance, balance_timestamp, created_timestamp, freeze_status, kyc_status, timestamp_range) values
  (1001, 1500, true, true, 15, 100, 1234567890000000001, 2, null, '[1234567890000000001,)'),
  (1001, 1501, true, null, 0, null, null, null, null, '[1234567890000000001,)'),
  (1001, 1502, false, false, 7, 100, 1234567890000000001, null, null, '[1234567890000000001,)'),
  (1001, 1999, true, false, 9007199254740993, 300, 1234567890000000001, null, 2, '[1234567890000000001,)'),
  (1002, 1500, true, false, 30, 200, 1234567890000000001, 0, 1, '[1234567890000000001,)'),
  (1003, 1500, true, false, 0, null, 1234567890000000001, null, null, '[1234567890000000001,)'),
  (1004, 1500, true, false, 40, 150, 1234567890000000001, null, null, '[1234567890000000001,)');
-- Snapshots: the month of May 2026 begins at 1777593600.
insert into account_balance (consensus_timestamp, account_id, balance) values (1777593600000000000, 2, 1), (1778000000000000000, 2, 1);
insert into token_balance (consensus_timestamp, account_id, token_id, balance) values
  (1777593600000000000, 1001, 1500, 11), (1777593600000000000, 1002, 1500, 22), (1777593600000000000, 1003, 1999, 33), (1778000000000000000, 1002, 1500, 2);

insert into nft (token_id, serial_number, account_id, created_timestamp, deleted, metadata, spender, delegating_spender, timestamp_range) values
  (1501, 1, 1001, 1234567890000000002, false, '\x01', 2000, 1002, '[1234567890000000006,)'),
  (1501, 2, 1001, 1234567890000000002, null, null, 2001, null, '[1234567890000000002,)'),
  (1501, 3, null, 1234567890000000002, true, '\x', null, null, '[1234567890000000004,)'),
  (1501, 9886299254743552, 1002, null, false, '\x01', null, null, '[1234567890000000008,)'),
  (1503, 1, 1001, 1234567890000000002, null, '\x01', null, null, '[1234567890000000002,)'),
  (1503, 5, 1001, 1234567890000000002, false, '\x01', 2000, null, '[1234567890000000002,)'),
  (1503, 9, 1001, 1234567890000000002, false, '\x01', null, null, '[1234567890000000002,)'),
  (1506, 1, 1001, 1234567890000000002, false, '\x01', null, null, '[1234567890000000002,)'),
  (1506, 7, 1001, 1234567890000000002, false, '\x01', 2000, null, '[1234567890000000002,)'),
  (1599, 1, 1004, 1234567890000000002, null, '\x01', null, null, '[1234567890000000002,)');
insert into nft_history (token_id, serial_number, account_id, created_timestamp, deleted, timestamp_range) values
  (1501, 1, 1002, 1234567890000000002, false, '[1234567890000000002,1234567890000000004)'),
  (1501, 1, 1001, 1234567890000000002, false, '[1234567890000000004,1234567890000000006)'),
  (1501, 77, 1001, 1234567890000000002, false, '[1234567890000000002,1234567890000000004)'),
  (1503, 5, 1002, 1234567890000000002, false, '[1234567890000000001,1234567890000000002)');
insert into transaction (consensus_timestamp, type, result, payer_account_id, valid_start_ns, nonce, nft_transfer) values
  (1234567890000000001, 37, 22, 1002, 1234567890000000000, 0, '[{"token_id":1503,"serial_number":5,"receiver_account_id":1002}]'),
  (1234567890000000002, 37, 22, 1002, 1234567889000000005, 0, '[{"token_id":1501,"serial_number":2,"receiver_account_id":1002},{"token_id":1501,"serial_number":1,"receiver_account_id":1003,"is_approval":null},{"token_id":1501,"serial_number":1,"receiver_account_id":1}]'),
  (1234567890000000004, 14, 22, 1002, 1234567889000000006, 3, '[{"token_id":1501,"serial_number":1,"receiver_account_id":1001,"sender_account_id":1002,"is_approval":true}]'),
  (1234567890000000006, 48, 22, 1001, 1234567889000000007, 0, null),
  (1234567890000000008, 14, 22, 1001, 1234567889000000008, 0, '[{"token_id":1501,"serial_number":9886299254743552,"receiver_account_id":1002,"sender_account_id":1001}]'),
  (1234567890000000009, 35, 22, 1001, 1234567889000000009, 0, '[{"token_id":1503,"serial_number":5,"receiver_account_id":1002}]');

insert into crypto_allowance (owner, spender, payer_account_id, amount, amount_granted, timestamp_range) values
  (1001, 2001, 1001, 23, 33, '[1234567890000000001,)'), (1001, 2002, 1001, 0, 44, '[1234567890000000002,)'),
  (1001, 2003, 1001, 45, 55, '[1234567890000000003,)'), (1002, 2001, 1002, 56, 66, '[1234567890000000004,)'), (1002, 1001, 1002, 1, 1, '[1234567890000000004,)');
insert into token_allowance (owner, spender, token_id, payer_account_id, amount, amount_granted, timestamp_range) values
  (1001, 2001, 1500, 1001, 23, 33, '[1234567890000000001,)'), (1001, 2001, 1502, 1001, 0, 1, '[1234567890000000001,)'),
  (1001, 2001, 1504, 1001, 24, 34, '[1234567890000000002,)'), (1001, 2002, 1500, 1001, 25, 35, '[1234567890000000003,)'),
  (1001, 2002, 1504, 1001, 26, 36, '[1234567890000000004,)'), (1001, 2003, 1500, 1001, 27, 37, '[1234567890000000005,)'),
  (1001, 2003, 1504, 1001, 28, 38, '[1234567890000000006,)'), (1002, 1001, 1500, 1002, 5, 6, '[1234567890000000007,)');
insert into staking_reward_transfer (account_id, consensus_timestamp, amount, payer_account_id) values
  (1001, 1234567890000000002, 10, 1), (1001, 1234567890000000004, 11, 1), (1001, 1234567890000000006, 9007199254740993, 1), (1002, 1234567890000000006, 12, 1);
