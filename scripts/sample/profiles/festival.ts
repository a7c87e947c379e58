import { type Category, names, NO_VENUE, type Profile, towns } from '../profile.ts';

const house = {
  name: '月見座 能楽堂',
  address: ['東山区清水町3丁目294番地', '月見座ビル 2階', '京都市', '605-0862', 'JP'],
} as const;

const seatS: Category = {
  name: 'S席',
  description: '<p>正面席。<strong>プログラム引換券</strong>付き。</p>',
  price: 9800,
  compareAtPrice: 11000,
  seating: { blocs: ['正面 東', '正面 西'], rows: 10, seatsPerRow: 12, rowNames: 'numbers' },
};

const seatA: Category = {
  name: 'A席',
  description: '<p>脇正面席。</p>',
  price: 7500,
  seating: { blocs: ['脇正面'], rows: 12, seatsPerRow: 16, rowNames: 'numbers' },
};

const lawn: Category = { name: '芝生エリア(自由)', price: 4500, seating: { area: '芝生エリア' } };

/** A festival and its hall: yen, a zone without summer time, a date that passes midnight. */
export const festival: Profile = {
  organizationId: 'tsukimi-matsuri',
  name: '月見祭実行委員会',
  branches: ['奈良', '金沢', '札幌', '福岡', '松山'],
  imageFolder: 'tsukimi',
  zone: 'Asia/Tokyo',
  currency: { code: 'JPY', minorUnits: 1 },
  countryCode: 'JP',
  orderNumberPrefix: '月-',
  invoicePrefix: '請求-',
  taxRate: 0.1,
  priceStep: 100,
  serviceFeePerTicket: 220,
  rates: [
    { name: '一般', percent: 100, resale: true },
    { name: '学生', percent: 60, resale: false },
    { name: '小学生以下', percent: 30, resale: false },
  ],
  shopRate: 'ショップ価格',
  withTicketRate: 'チケットと同時購入',
  house,
  productions: [
    {
      title: '月見祭 野外音楽会',
      description: '三日間、川辺のステージで和太鼓からエレクトロニカまで。',
      image: 'yagai',
      venue: {
        name: '鴨川左岸 特設会場',
        address: ['左京区下鴨宮河町', null, '京都市', '606-0801', 'JP'],
      },
      tags: ['音楽', '野外', 'フェス'],
      schedule: { firstDay: -66, sessions: 3, weekdays: '567', times: '13:00', minutes: 480 },
      popularity: 6,
      categories: [
        lawn,
        {
          name: '指定席ブロック',
          price: 12000,
          seating: {
            blocs: ['ブロックA', 'ブロックB', 'ブロックC'],
            rows: 20,
            seatsPerRow: 20,
            rowNames: 'numbers',
          },
        },
      ],
      extras: [
        {
          name: 'アーリーエントリー',
          description: '<p>開場30分前に入場できます。</p>',
          pricings: [
            { name: '芝生エリアの方', price: 1500 },
            { name: '指定席の方', price: 1000 },
          ],
        },
      ],
    },
    {
      title: '能と狂言の夕べ',
      description: '「羽衣」「附子」ほか。英語字幕つき。',
      image: 'noh',
      tags: ['能', '狂言', '伝統芸能', 'English Subtitles'],
      schedule: { firstDay: -9, sessions: 10, weekdays: '3567', times: '18:30', minutes: 150 },
      popularity: 4,
      categories: [seatS, seatA],
      extras: [{ name: '装束の解説', pricings: [{ name: 'S席の方', price: 800 }] }],
    },
    {
      title: '年越し花火と初日の出',
      venue: { name: '宇治川河川敷(雨天決行・駐車場なし・受付は堤防上のテント)' },
      tags: ['花火', '  年越し ', 'カウントダウン'],
      schedule: { firstDay: 38, sessions: 1, weekdays: '1234567', times: '23:30', minutes: 450 },
      popularity: 5,
      categories: [
        {
          ...lawn,
          form: {
            formId: 'form_hanabi',
            fields: {
              emergency_contact: ['家族', '友人', '勤務先'],
              transport: ['電車', '自転車', '徒歩', 'シャトルバス'],
              language: ['日本語', 'English', '中文', '한국어'],
            },
            multiple: ['transport'],
          },
        },
      ],
    },
    {
      title: '常設展「光の庭」',
      description: '時間指定制の没入型展示。',
      image: 'hikari',
      venue: { ...house, name: '月見座 地下展示室' },
      tags: ['展示', '光', 'アート'],
      schedule: { firstDay: -80, sessions: 96, weekdays: '124567', times: '10:00 17:00', minutes: 90 },
      popularity: 4,
      categories: [{ name: '時間指定入場券', price: 2400 }],
    },
    {
      title: '配信:デジタル夏祭り',
      description: 'どこからでも参加できるライブ配信。',
      image: 'digital',
      venue: NO_VENUE,
      tags: ['配信', '音楽'],
      schedule: { firstDay: -120, sessions: 2, weekdays: '67', times: '19:00', minutes: 120 },
      popularity: 2,
      categories: [{ name: '配信チケット', price: 1800 }],
    },
    {
      title: 'Café Zürich — ジャズの夜',
      description: 'スイスと日本の五人。',
      image: 'jazz',
      tags: ['ジャズ', '音楽', 'Café'],
      schedule: { firstDay: 17, sessions: 4, weekdays: '56', times: '18:00 21:00', minutes: 100 },
      popularity: 3,
      categories: [seatS, seatA],
    },
    {
      title: '春の茶会',
      image: 'chakai',
      venue: { name: '旧伊藤家住宅の離れ(町内会館の裏)' },
      tags: ['茶道', '伝統芸能'],
      schedule: { firstDay: 135, sessions: 6, weekdays: '67', times: '10:00 13:00 15:00', minutes: 60 },
      popularity: 1,
      categories: [{ name: '茶席', price: 3500, seating: { area: '広間' } }],
    },
    {
      title: '月見座 子ども寄席',
      description: '落語と紙切り。',
      tags: ['落語', 'こども'],
      schedule: { firstDay: -30, sessions: 5, weekdays: '7', times: '11:00', minutes: 70 },
      popularity: 1,
      categories: [{ ...seatA, price: 2000 }],
    },
  ],
  merchandise: [
    {
      name: '公式手ぬぐい',
      description: '<p>注染、<em>京都</em>で染めました。</p>',
      price: 1800,
      priceWithTicket: 1500,
      images: ['tenugui'],
      tags: ['グッズ'],
      optionLabels: ['色'],
      variants: [
        [45, '藍'],
        [45, '朱'],
      ],
    },
    {
      name: 'Tシャツ「月」',
      price: 4200,
      compareAtPrice: 4800,
      images: ['t-1', 't-2'],
      tags: ['グッズ', 'Tシャツ'],
      optionLabels: ['サイズ', '色', '生地'],
      variants: [
        [160, 'S', '白', '綿'],
        [175, 'M', '白', '綿'],
        [190, 'M', '黒', '麻'],
        [205, 'L', '黒', '麻'],
      ],
      productions: [0, 2],
    },
  ],
  packages: [
    {
      name: '月見パス',
      description: '<p>音楽会と花火の<strong>通し券</strong>。</p>',
      percent: 80,
      productions: [0, 2],
      ticketsEach: 1,
      images: ['pass'],
      tags: ['通し券'],
    },
    {
      name: '手ぬぐい付きペア',
      percent: 90,
      productions: [1],
      ticketsEach: 2,
      merchandise: 0,
      tags: ['ペア', 'グッズ'],
    },
  ],
  discounts: [
    { code: '早割', percent: 15 },
    { code: 'TSUKIMI500', percent: 5 },
  ],
  salesChannels: [
    { salesChannelId: '100', salesChannelName: '公式サイト', issuanceChannel: 'ONLINE' },
    { salesChannelId: '200', salesChannelName: 'コンビニ発券', issuanceChannel: 'KIOSK' },
    { salesChannelId: '300', salesChannelName: '当日窓口', issuanceChannel: 'BOX_OFFICE' },
  ],
  payments: [
    { provider: 'payjp', method: 'card' },
    { provider: 'konbini', method: 'convenience_store' },
    { provider: 'paypay', method: 'wallet' },
  ],
  homeDelivery: { carrierId: 'yamato', fee: 700 },
  pickup: {
    carrierId: 'konbini',
    fee: 165,
    points: [
      ['kb-26-0117', '下鴨本通店', '左京区下鴨東本町8', '京都市', '606-0863'],
      ['kb-27-0930', '梅田三丁目店', '北区梅田3丁目1-9', '大阪市', '530-0001'],
    ],
  },
  insurance: { serviceId: 'anshin', serviceName: 'チケットあんしん補償', percent: 5 },
  donation: { serviceId: 'kifu', serviceName: '能楽堂修復募金', amounts: [100, 500, 1000, 5000] },
  optIns: ['メールマガジン', 'アンケート'],
  population: {
    firstNames: names(
      '陽菜/hina 蓮/ren 葵/aoi 大翔/hiroto さくら/sakura 悠真/yuma 結衣/yui 健一/kenichi 由美子/yumiko 翔太/shota Émilie 美咲/misaki',
    ),
    lastNames: names(
      '佐藤/sato 鈴木/suzuki 髙橋/takahashi 田中/tanaka 伊藤/ito 渡邊/watanabe 山本/yamamoto 中村/nakamura 小林/kobayashi 斎藤/saito 清水/shimizu 森/mori',
    ),
    streets: ['神宮前3丁目%番', '西陣中央町%', '本町通り%番地', '北区紫野東町%', '桜ヶ丘2丁目%番'],
    addressLines2: ['コーポ月見 203号室', 'グリーンハイツ 5階'],
    towns: towns('京都市 600-8216, 大阪市 530-0001, 神戸市 650-0021, 渋谷区 150-0001'),
    companies: [
      { companyName: '株式会社月見商事', vatNumber: 'T0000000000001' },
      { companyName: '有限会社あおい工房', vatNumber: 'T0000000000002' },
    ],
    phone: '+81 3-0000-####',
  },
};
